import "./control-values.test.ts";
