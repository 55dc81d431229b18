/** A recipe's imports, which a file of its language has at its top, and the rest. Pure. */
export function splitImports(code: string, isImport: RegExp): { readonly imports: string; readonly rest: string } {
  const lines = code.split('\n');
  const of = (wanted: boolean) => lines.filter((line) => isImport.test(line) === wanted).join('\n');
  return { imports: of(true), rest: of(false) };
}
