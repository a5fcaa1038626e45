// The least that an app can be.
export default {
  fetch(request: Request): Response {
    const { pathname } = new URL(request.url);
    return pathname === "/boom" ? (null as unknown as Response) : new Response(`plain ${request.method} ${pathname}`);
  },
};
