/**
 * Which model ids a price is for: declared rules only, no likeness. The forms are those of the catalogue
 * (`@pydantic/genai-prices`) and one of ours, compared without case except in the catalogue's expressions. How far a rule that names a
 * part of an id reaches over the rest of it is `model-reach.ts`.
 */
import { type Reach, reachesForms } from './model-reach.ts';

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

/** The rest of the id, before and behind the part that a rule names. */
function reachesOver(reach: Reach, model: string, at: number, length: number): boolean {
  if (at < 0) return false;
  const end = at + length;
  return reach(model.slice(0, at), model.slice(at, end), model.slice(end));
}

export function createModelTest(match: ModelMatch, reach: Reach = reachesForms): ModelTest {
  if ('or' in match) {
    const tests = match.or.map((part) => createModelTest(part, reach));
    return (model) => tests.some((test) => test(model));
  }
  if ('and' in match) {
    const tests = match.and.map((part) => createModelTest(part, reach));
    return (model) => tests.every((test) => test(model));
  }
  if ('regex' in match) {
    const expression = new RegExp(match.regex, 'i');
    return (model) => expression.test(model);
  }
  if ('equals' in match) {
    const wanted = match.equals.toLowerCase();
    return (model) => model.toLowerCase() === wanted;
  }
  if ('starts_with' in match) {
    const prefix = match.starts_with.toLowerCase();
    return (model) => {
      const id = model.toLowerCase();
      return id.startsWith(prefix) && reachesOver(reach, id, 0, prefix.length);
    };
  }
  if ('prefix' in match) {
    const prefix = match.prefix.toLowerCase();
    return (model) => model.toLowerCase().startsWith(prefix);
  }
  if ('ends_with' in match) {
    const suffix = match.ends_with.toLowerCase();
    return (model) => {
      const id = model.toLowerCase();
      return id.endsWith(suffix) && reachesOver(reach, id, id.length - suffix.length, suffix.length);
    };
  }
  const part = match.contains.toLowerCase();
  return (model) => {
    const id = model.toLowerCase();
    return reachesOver(reach, id, id.indexOf(part), part.length);
  };
}

/**
 * The catalogue's expressions are held to the same reach: one that is open at its end (`^gemini-3\.5-flash-\d`) would
 * take the names of other models. An expression that only looks ahead decides nothing by itself.
 */
export function closeExpressions(match: ModelMatch, reach: Reach): ModelTest {
  if ('or' in match) {
    const tests = match.or.map((part) => closeExpressions(part, reach));
    return (model) => tests.some((test) => test(model));
  }
  if ('and' in match) {
    const tests = match.and.map((part) => closeExpressions(part, reach));
    return (model) => tests.every((test) => test(model));
  }
  if (!('regex' in match)) return createModelTest(match, reach);
  const expression = new RegExp(match.regex);
  return (model) => {
    const found = expression.exec(model);
    if (found === null) return false;
    const [part] = found;
    if (part === '') return true;
    // The digit that it asks for may be the first of a revision, or of a size.
    const length = match.regex.endsWith('$') ? part.length : part.replace(/[-@]\d*$/, '').length;
    return reachesOver(reach, model.toLowerCase(), found.index, length);
  };
}
