// Names that are hidden where one report stands open.

import { expect, test } from "vitest";

import { hiding, initials, maskedFile, namesSomebody } from "../src/parts/veil";

test("the patient stands as the core masks the patients of lists", () => {
  expect(initials("Muster, Mia Eva", "1987-02-03")).toBe("M. M., 1987");
  expect(initials("H5", null)).toBe("H.");
  expect(initials("émile", "198")).toBe("É.");
  expect(initials("", null)).toBe("?");
  expect(initials("A, B, C", "1900")).toBe("A. B., 1900");
});

test("the words of a name are hidden wherever they stand, and no others", () => {
  const hide = hiding("Muster-Fehler, Mia");
  expect(hide("MUSTER of Musterhausen, mia")).toBe("M… of Musterhausen, m…");
  expect(hide("«Muster-Fehler» ist falsch")).toBe("«M…-F…» ist falsch");
  expect(hide("Es heisst Muster-Fehler. Ändern Sie Mia.")).toBe("Es heisst M…-F… Ändern Sie M…");
  expect(hiding(null)("Muster")).toBe("Muster");
  expect(hiding("M, D")("M and D")).toBe("M and D");
  // What people put in a name is no pattern.
  expect(hiding("a.*b (x), +c1")("aXXb c1 ab")).toBe("aXXb c… ab");
});

test("what says who somebody is, is told from what many people share", () => {
  for (const path of [
    "patient.name",
    "Patient.name.family",
    "Patient.birthDate",
    "patient.address",
    "RelatedPerson.name",
  ]) {
    expect(namesSomebody(path), path).toBe(true);
  }
  for (const path of [
    "patient.gender",
    "Patient.address.city",
    "Patient.deceasedDateTime",
    "Organization.name",
    "Patient",
    "",
  ]) {
    expect(namesSomebody(path), path).toBe(false);
  }
});

test("a file is hidden as the core hides it in lists", () => {
  expect(maskedFile("Muster_Mia-19870203.json")).toBe("M…_M…-1….json");
  expect(maskedFile("élan 7.Muster")).toBe("é… 7….M…");
  expect(maskedFile("")).toBe("");
});
