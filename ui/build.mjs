// Builds the page for Airflow (page.js), the page on its own (standalone.js), and the layout engine that both load
// when a graph is shown (layout.js); writes them and a manifest, with a hash of what they were made from.
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

import react from "@vitejs/plugin-react";
import { build } from "vite";

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, "..", "provider", "web", "static");

const globals = {
  react: "React",
  "react-dom": "ReactDOM",
  "react/jsx-runtime": "ReactJSXRuntime",
  "react-router-dom": "ReactRouterDOM",
  "@chakra-ui/react": "ChakraUI",
  "@emotion/react": "EmotionReact",
};

const bundles = [
  { file: "page.js", entry: "src/plugin.tsx", name: "AirflowPlugin", format: "umd", globals },
  { file: "standalone.js", entry: "src/standalone.tsx", format: "es", globals: {} },
  { file: "layout.js", entry: "src/layout.ts", name: "ProvSparkLayout", format: "umd", globals: {} },
];

function files(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((f) => f.isFile())
    .map((f) => relative(here, join(f.parentPath, f.name)))
    .sort();
}

// tests/ui/test_ui_bundle.py works out the same.
function source() {
  const hash = createHash("sha256");
  for (const name of [...files(join(here, "src")), "build.mjs", "package-lock.json", "package.json", "tsconfig.json"]) {
    hash
      .update(`${name}\0`)
      .update(readFileSync(join(here, name)))
      .update("\0");
  }
  return hash.digest("hex");
}

// Whose code the bundles hold, for LICENSES.txt.
const packages = new Map();
const collect = {
  name: "licences",
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle)) {
      for (const id of Object.keys(chunk.modules ?? {})) {
        const found = /^(.*\/node_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(id.replace(/^\0/, ""));
        if (found) packages.set(found[2], found[1]);
      }
    }
  },
};

function licences() {
  const parts = ["The page's files in this folder hold code of these packages, each under its own licence.\n"];
  for (const [name, folder] of [...packages].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const about = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const file = readdirSync(folder).find((f) => /^licen[cs]e/i.test(f));
    parts.push(`${"-".repeat(80)}\n${name} ${about.version}, ${about.license}\n`);
    parts.push(file ? readFileSync(join(folder, file), "utf8").trim() + "\n" : `See the package's own repository.\n`);
  }
  return parts.join("\n");
}

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
for (const { file, entry, name, format, globals } of bundles) {
  await build({
    root: here,
    configFile: false,
    logLevel: "warn",
    plugins: [react({ jsxImportSource: "#page" }), collect],
    define: { "process.env.NODE_ENV": JSON.stringify("production") },
    build: {
      outDir: out,
      emptyOutDir: false,
      target: "es2022",
      minify: "esbuild",
      lib: { entry: join(here, entry), name, formats: [format], fileName: () => file },
      rollupOptions: {
        external: Object.keys(globals),
        output: { globals, exports: format === "umd" ? "default" : "auto" },
      },
    },
  });
}
cpSync(join(here, "src", "icons"), out, { recursive: true });
writeFileSync(join(out, "LICENSES.txt"), licences());
const made = {};
for (const name of readdirSync(out).sort()) {
  const data = readFileSync(join(out, name));
  made[name] = createHash("sha256").update(data).digest("hex");
  console.log(name, data.length, "bytes,", gzipSync(data).length, "compressed");
}
writeFileSync(join(out, "manifest.json"), `${JSON.stringify({ source: source(), files: made }, null, 1)}\n`);
