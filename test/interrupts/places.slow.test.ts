import { ROOT } from "../harness/server.ts";
import { placeTests } from "../oracle/place-tests.ts";

placeTests("pinned", ROOT, ["sqlite"]);
