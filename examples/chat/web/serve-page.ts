// Serves the page: esbuild bundles it for the address of an agent server, anew at each load.
import { context } from "esbuild";

export interface ServedPage {
  readonly url: string;
  close(): Promise<void>;
}

/** @param port 0 for any */
export async function servePage(apiUrl: string, port: number): Promise<ServedPage> {
  const here = import.meta.dirname;
  const build = await context({
    absWorkingDir: here,
    entryPoints: ["main.tsx"],
    outdir: here, // in memory only
    write: false,
    bundle: true,
    format: "esm",
    jsx: "automatic",
    sourcemap: "inline",
    define: { API_URL: JSON.stringify(apiUrl) },
    logLevel: "warning",
  });
  const served = await build.serve({ servedir: here, host: "127.0.0.1", port });
  return { url: `http://127.0.0.1:${served.port}`, close: () => build.dispose() };
}
