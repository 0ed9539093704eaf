// Draws the faces of the sprite sheet.  Run by make_sprite_faces.py, where facesjs and resvg are installed.
//
// Writes the pixels of all faces to standard output: person by person, expression by expression, rows, columns, red, green and
// blue. Every other person is a woman. All wear the same jersey and nothing on their heads; an expression changes the mouth alone.
// Writes the outline of every head to a file: for each person, places in pixels around the middle of the face, as JSON.

import { writeFileSync } from "node:fs";
import { faceToSvgString, generate } from "facesjs";
import { Resvg } from "@resvg/resvg-js";

const [people, side, seed] = process.argv.slice(2, 5).map(Number);
const outlineFile = process.argv[5];
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

const BESIDE = ["hairBg", "body", "jersey", "ear", "eyeLine", "smileLine", "miscLine", "facialHair", "eye", "eyebrow", "mouth"];
const POINTS = 24;
const FINER = 10;
const [left, top, wide] = CROP.split(" ").map(Number);

const drawn = (face, size, background) => {
  const svg = faceToSvgString(face)
    .replace('width="100%"', `width="${size}"`)
    .replace('height="100%"', `height="${size}"`)
    .replace('viewBox="0 0 400 600"', `viewBox="${CROP}"`);
  return new Resvg(svg, { background }).render().pixels;
};

// The head alone, much finer; from the middle of the face, the last pixel of it in every direction.
const outline = (face) => {
  const head = { ...face };
  for (const part of [...BESIDE, "nose", "hair"]) head[part] = { ...face[part], id: "none" };
  const size = side * FINER;
  const pixels = drawn(head, size, undefined);
  const [x, y] = [((200 - left) / wide) * size, ((345 - top) / wide) * size];
  return Array.from({ length: POINTS }, (_, number) => {
    const turn = (2 * Math.PI * number) / POINTS;
    const at = (far) => [x + far * Math.sin(turn), y - far * Math.cos(turn)].map(Math.round);
    let last = 0;
    for (let far = 0; far < size; far++) {
      const [across, down] = at(far);
      if (across < 0 || down < 0 || across >= size || down >= size) break;
      if (pixels[4 * (down * size + across) + 3] > 127) last = far;
    }
    return at(last).map((place) => Math.round((10 * place) / FINER - 5) / 10);
  });
};

const outlines = [];
for (let person = 0; person < people; person++) {
  const plain = { jersey: { id: "jersey" }, accessories: { id: "none" }, glasses: { id: "none" } };
  const face = generate(plain, { gender: person % 2 ? "male" : "female" });
  outlines.push(outline(face));
  for (const id of MOUTHS) {
    const pixels = drawn({ ...face, mouth: { id, flip: false } }, side, "white");
    process.stdout.write(Buffer.from(pixels.filter((_, place) => place % 4 < 3)));
  }
}
writeFileSync(outlineFile, JSON.stringify(outlines));
