// The page without Airflow, for `provspark serve`: adds what Airflow provides otherwise.
import { Box, ChakraProvider, createSystem, defaultConfig } from "@chakra-ui/react";
import { StrictMode, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { BrowserRouter } from "react-router-dom";

import { App } from "./App";

const system = createSystem(defaultConfig, { globalCss: { "html, body, #root": { height: "100%" } } });
const KEY = "provspark-theme";

function Standalone() {
  const [dark, setDark] = useState(
    () =>
      (localStorage.getItem(KEY) ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark",
  );
  useEffect(() => {
    document.documentElement.className = dark ? "dark" : "light";
    document.documentElement.style.colorScheme = dark ? "dark" : "light";
    localStorage.setItem(KEY, dark ? "dark" : "light");
  }, [dark]);
  return (
    <ChakraProvider value={system}>
      <BrowserRouter>
        <Box bg="bg" color="fg" h="100vh" px={5} py={4}>
          <App
            theme={{
              dark,
              toggle: () => {
                setDark((now) => !now);
              },
            }}
          />
        </Box>
      </BrowserRouter>
    </ChakraProvider>
  );
}

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <Standalone />
    </StrictMode>,
  );
}
