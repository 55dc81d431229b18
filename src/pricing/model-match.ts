/**
 * Which model ids a price is for: declared rules only, no likeness. The forms are those of the catalogue
 * (`@pydantic/genai-prices`) and one of ours, compared without case except in expressions.
 */

export type ModelMatch =
  | { readonly equals: string }
  | { readonly starts_with: string }
  /** Ours, for what an operator declares: reaches over everything. */
  | { readonly prefix: string }
  | { readonly ends_with: string }
  | { readonly contains: string }
  | { readonly regex: string }
  | { readonly or: readonly ModelMatch[] }
  | { readonly and: readonly ModelMatch[] };

/** Tells whether an id (as sent, any case) is meant. */
export type ModelTest = (model: string) => boolean;

/**
 * A prefix does not reach over a version number: `claude-sonnet-5` must not price `claude-sonnet-5-5`, which is
 * another model. Dates (`-20250929`), revisions (`-001`) and suffixes (`-v1:0`) are reached as the rule says.
 */
const NEXT_VERSION = /^-\d{1,2}(?=$|[-.:@])/;
/** Nor over a word by which every provider names another model, larger, smaller or for something else. */
const OTHER_MODEL =
  /^-(?:ultra|max|plus|pro|turbo|fast|flash|lite|mini|micro|nano|audio|codex|coder|computer|deep|embedding|image|live|native|omni|realtime|search|transcribe|tts)(?=$|[-.:@\d])/i;

function reaches(model: string, at: number, length: number): boolean {
  if (at < 0) return false;
  const end = at + length;
  // Some rules end with the hyphen.
  const isCut = model[end - 1] === '-';
  return !NEXT_VERSION.test(model.slice(end)) && !OTHER_MODEL.test(model.slice(isCut ? end - 1 : end));
}

export function createModelTest(match: ModelMatch): ModelTest {
  if ('or' in match) {
    const tests = match.or.map(createModelTest);
    return (model) => tests.some((test) => test(model));
  }
  if ('and' in match) {
    const tests = match.and.map(createModelTest);
    return (model) => tests.every((test) => test(model));
  }
  if ('regex' in match) {
    const expression = new RegExp(match.regex);
    return (model) => expression.test(model);
  }
  if ('equals' in match) {
    const wanted = match.equals.toLowerCase();
    return (model) => model.toLowerCase() === wanted;
  }
  if ('starts_with' in match) {
    const prefix = match.starts_with.toLowerCase();
    return (model) => model.toLowerCase().startsWith(prefix) && reaches(model, 0, prefix.length);
  }
  if ('prefix' in match) {
    const prefix = match.prefix.toLowerCase();
    return (model) => model.toLowerCase().startsWith(prefix);
  }
  if ('ends_with' in match) {
    const suffix = match.ends_with.toLowerCase();
    return (model) => model.toLowerCase().endsWith(suffix);
  }
  const part = match.contains.toLowerCase();
  return (model) => reaches(model, model.toLowerCase().indexOf(part), part.length);
}
