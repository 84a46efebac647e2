import { fileURLToPath } from "node:url";

import { build } from "vite";
import { expect, it } from "vitest";

it("the product has nothing of the made-up core, and no inline script or style", async () => {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const built = await build({ root, mode: "production", logLevel: "silent", build: { write: false } });
  const output = Array.isArray(built) ? built.flatMap((one) => one.output) : "output" in built ? built.output : [];
  const all = output.map((file) => (file.type === "chunk" ? file.code : file.source.toString())).join("\n");
  expect(output.some((file) => file.fileName === "index.html")).toBe(true);
  expect(all).toContain("certificate_inspect");
  for (const madeUp of ["Labor Aaretal", "mock-drop", "elm.example.org"]) expect(all).not.toContain(madeUp);
  const page = output.find((file) => file.fileName === "index.html");
  const html = page?.type === "asset" ? page.source.toString() : "";
  expect(html).not.toMatch(/<style|style=|<script(?![^>]*\bsrc=)/);
}, 240_000);
