// The page of the API: Swagger UI on the server's own /openapi.json. Its files are those of swagger-ui-dist.
const dark = matchMedia("(prefers-color-scheme: dark)");
const show = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", show);
show();

globalThis.SwaggerUIBundle({
  url: new URL("../openapi.json", import.meta.url).href,
  dom_id: "#api",
  deepLinking: true,
  docExpansion: "none",
  filter: true,
  tryItOutEnabled: true,
  validatorUrl: null,
});
