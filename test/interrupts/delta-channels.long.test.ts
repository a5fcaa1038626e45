import "./delta-channels.test.ts";
