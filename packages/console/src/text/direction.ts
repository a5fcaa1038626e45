// Direction: of a line of mixed scripts, by most of its letters: a name in Latin letters in front must not turn a Hebrew
// title around, which would cut off its beginning.

const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/gu;

export function readDirection(line: string): "ltr" | "rtl" {
  const letters = line.match(/\p{L}/gu)?.length ?? 0;
  return (line.match(RIGHT_TO_LEFT)?.length ?? 0) * 2 > letters ? "rtl" : "ltr";
}
