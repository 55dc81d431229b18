/** For options that may be given several times: what commander calls for each. */
export function collect(value: string, former: readonly string[]): readonly string[] {
  return [...former, value];
}
