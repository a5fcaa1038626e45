// Register: `node --import holdpoint/register --test agent.test.ts` loads files of a project as the server does.
import { installSourceHooks } from "@holdpoint/server/graphs/loading/source-hooks.ts";

installSourceHooks();
