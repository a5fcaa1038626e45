// Kept here: whether this browser keeps views and read marks. For a person who has signed in the server does.
import { createValue } from "./value.ts";

export const isKeptHere = createValue(true);
