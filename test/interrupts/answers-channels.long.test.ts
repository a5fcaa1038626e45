import "./answers-channels.test.ts";
import "./unused-answers-channels.test.ts";
