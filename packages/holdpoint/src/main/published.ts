// Published: whether the packages are in the registry. `node deploy/publish-texts.ts` turns this and the pages.
export const PUBLISHED: boolean = false;
