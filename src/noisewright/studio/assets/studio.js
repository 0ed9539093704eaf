// A list of choices is a listbox, whose options alone may take the focus; the toolkit wraps them in something that may, too.
new MutationObserver(() => {
  for (const wrap of document.querySelectorAll(".q-menu[role=listbox] > .q-virtual-scroll__content[tabindex]")) {
    wrap.removeAttribute("tabindex");
  }
}).observe(document, { childList: true, subtree: true });

// A page with work that would be lost says so before it is left; the browser words the question.
addEventListener("beforeunload", (event) => {
  if (document.body.dataset.unsaved) event.preventDefault();
});
