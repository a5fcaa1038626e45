import "./collector-forward.test.ts";
