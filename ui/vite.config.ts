import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

import { catalogues } from "./build/catalogues.ts";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

// The policy of the product, so that a screen tried in a browser meets the same refusals.
const product = JSON.parse(readFileSync(at("../tauri.conf.json"), "utf8")) as { app: { security: { csp: string } } };
const policy = product.app.security.csp;

export default defineConfig(({ mode }) => {
  // The made-up door is for looking at screens and for tests; the product is never built with it.
  const mock = mode === "mock" || mode === "test";
  return {
    plugins: [catalogues(), react()],
    resolve: { alias: { "#door": at(mock ? "./src/bridge/mock/browser.ts" : "./src/bridge/tauri.ts") } },
    build: { target: "es2022", assetsInlineLimit: 0, chunkSizeWarningLimit: 1200 },
    server: { port: 1420, strictPort: true },
    preview: { headers: { "Content-Security-Policy": policy } },
    test: {
      environment: "node",
      include: ["tests/*.test.ts", "tests/*.test.tsx"],
      setupFiles: ["tests/waits.ts"],
      testTimeout: 60_000,
      css: { modules: { classNameStrategy: "non-scoped" as const } },
    },
  };
});
