// What a passphrase that is chosen still lacks.

import { expect, it } from "vitest";

import { lackOf } from "../src/parts/passphrase";

it("says what is missing before a passphrase can be used", () => {
  expect(lackOf("", "", 6)).toBe("short");
  expect(lackOf("abc", "", 6)).toBe("short");
  expect(lackOf("abcdef", "", 6)).toBe("again");
  expect(lackOf("abcdef", "abc", 6)).toBe("again");
  expect(lackOf("abcdef", "abd", 6)).toBe("differs");
  expect(lackOf("abcdef", "abcdefg", 6)).toBe("differs");
  expect(lackOf("abcdef", "abcdef", 6)).toBeNull();
  // As the core counts: characters, not units of their encoding.
  expect(lackOf("🔑🔑🔑", "🔑🔑🔑", 6)).toBe("short");
});
