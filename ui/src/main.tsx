import "@fontsource-variable/inter/wght.css";

import "./styles/tokens.css";
import "./styles/base.css";

import { QueryClientProvider } from "@tanstack/react-query";
import { createRoot } from "react-dom/client";

import { App } from "./app";
import { createCache } from "./bridge/queries";

document.documentElement.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";

const element = document.getElementById("window");
if (element) {
  createRoot(element).render(
    <QueryClientProvider client={createCache()}>
      <App />
    </QueryClientProvider>,
  );
}
