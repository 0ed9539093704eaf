// Draws the faces of the sprite sheet.  Run by make_sprite_faces.py, where facesjs and resvg are installed.
//
// Writes the pixels of all faces to standard output: person by person, expression by expression, rows, columns, red, green and
// blue. Every other person is a woman. All wear the same jersey and nothing on their heads; an expression changes the mouth alone.

import { faceToSvgString, generate } from "facesjs";
import { Resvg } from "@resvg/resvg-js";

const [people, side, seed] = process.argv.slice(2).map(Number);
const MOUTHS = ["straight", "smile4", "smile3", "angry", "mouth7", "mouth5", "side", "closed"];
const CROP = "-50 60 500 500"; // of a drawing of 400 x 600: the whole head with its hair, and the collar

// Faces are the same every time: the generator draws from Math.random.
let state = seed;
Math.random = () => {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
};

for (let person = 0; person < people; person++) {
  const plain = { jersey: { id: "jersey" }, accessories: { id: "none" }, glasses: { id: "none" } };
  const face = generate(plain, { gender: person % 2 ? "male" : "female" });
  for (const id of MOUTHS) {
    const svg = faceToSvgString({ ...face, mouth: { id, flip: false } })
      .replace('width="100%"', `width="${side}"`)
      .replace('height="100%"', `height="${side}"`)
      .replace('viewBox="0 0 400 600"', `viewBox="${CROP}"`);
    const drawn = new Resvg(svg, { background: "white" }).render().pixels;
    process.stdout.write(Buffer.from(drawn.filter((_, place) => place % 4 < 3)));
  }
}
