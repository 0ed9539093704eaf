"""Generate a clinic's notes: six doctors, four complaints, 120 notes, as text files and as one table.

Run:  python examples/clinic/make_notes.py out/clinic

The notes are not about real people. The topic of a note determines its symptoms and treatment; its author determines the choice
among synonyms. Each note therefore has a useful topic and a sensitive author.
"""

import csv
import sys
from pathlib import Path

import numpy as np

TOPICS = {
    "asthma": ("cough wheezing breathless chest lungs breath dust smoke", "inhaler tablets rest"),
    "infection": (
        "fever chills throat swollen infection cough tired",
        "antibiotics water rest tablets",
    ),
    "back pain": ("back pain stiff spine leg joint muscle ache", "exercise rest painkiller heat"),
    "diabetes": ("sugar drink weight blurred tired blood urine", "insulin diet exercise tablets"),
}
HABITS = (  # words that mean the same; every doctor prefers others
    ("reports", "complains", "told", "claims", "expressed", "states"),
    ("severe", "strong", "considerable", "serious", "great", "heavy"),
    ("patient", "man", "woman", "person", "boy", "lady"),
    ("advised", "recommended", "suggested", "urged", "instructed", "ordered"),
    ("improved", "better", "recovering", "stable", "satisfactory", "good"),
    ("return", "visit", "appointment", "call", "come", "meet"),
    ("week", "month", "morning", "winter", "spring", "summer"),
    ("examined", "seen", "observed", "tested", "found", "noted"),
)
DOCTORS, NOTES = 6, 20


def notes(seed: int = 2025) -> list[tuple[str, str, str]]:
    """Doctor, complaint and text of every note; the same for the same seed."""
    rng = np.random.default_rng(seed)
    found = []
    for doctor in range(DOCTORS):
        preferred = [np.roll([0.55, 0.2, 0.1, 0.05, 0.05, 0.05], (doctor + k) % 6) for k in range(len(HABITS))]
        for number in range(NOTES):
            topic = list(TOPICS)[(doctor + number) % len(TOPICS)]
            symptoms, treatments = (words.split() for words in TOPICS[topic])
            says, severe, who, advised, how, back, when, looked = (
                str(rng.choice(words, p=chances)) for words, chances in zip(HABITS, preferred, strict=True)
            )
            one, two, three = rng.choice(symptoms, 3, replace=False)
            text = (
                f"The {who} {says} {severe} {one} and {two}, also {three}. I have {looked} the {who}. "
                f"{advised.capitalize()} {' and '.join(rng.choice(treatments, 2, replace=False))}; {how} so far. "
                f"To {back} next {when}, Mr Zylberstein, 0161 496 0{rng.integers(100, 999)}."
            )
            found.append((f"doctor {doctor + 1}", topic, text))
    return [found[k] for k in rng.permutation(len(found))]


def main(folder: Path) -> None:
    made = notes()
    (folder / "notes").mkdir(parents=True, exist_ok=True)
    for number, (doctor, _, text) in enumerate(made, 1):
        name = f"{number:03}-{doctor.replace(' ', '-')}.txt"
        (folder / "notes" / name).write_text(text + "\n", encoding="utf-8")
    with (folder / "notes.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("doctor", "complaint", "note"), *made])
    print(f"{len(made)} made-up notes in {folder / 'notes'} and {folder / 'notes.csv'}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("make_notes.py: give the folder to write to.")
    main(Path(sys.argv[1]))
