// Picture: addresses that a page draws: those that hold their data, and pictures at the console's own origin, as its
// content policy allows. A page asks no other site for anything, and an address of one stays text.

/** Without SVG, which could contain text that looks like the console's own. */
const DATA = /^data:image\/(?:png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/=\s]+$/;
/** By its ending, so that no call of the API is a picture. */
const FILE = /\.(?:png|jpe?g|gif|webp|avif)$/i;

export function isPicture(address: string): boolean {
  return address.startsWith("data:image/") ? DATA.test(address) : isOwnFile(address);
}

/** A path alone is text: most name files of the graph's machine. */
function isOwnFile(address: string): boolean {
  const { origin } = window.location;
  return address.startsWith(`${origin}/`) && FILE.test(URL.parse(address)?.pathname ?? "");
}
