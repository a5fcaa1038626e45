import "./canary.test.ts";
