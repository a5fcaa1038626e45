// Picture: addresses that a page draws. They hold their data: a page asks no other site for anything, and an address of
// one stays text.

/** Without SVG, which could contain text that looks like the console's own. */
const PICTURE = /^data:image\/(?:png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/=\s]+$/;

export function isPicture(address: string): boolean {
  return address.startsWith("data:image/") && PICTURE.test(address);
}
