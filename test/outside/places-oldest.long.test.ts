import { copyForOldest } from "./oldest-langgraph.ts";
import { placeTests } from "../oracle/place-tests.ts";

placeTests("oldest", copyForOldest(), ["sqlite"]);
