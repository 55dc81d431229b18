/** A text as the search compares it: `search_fold` of the database, here. It keeps the number of UTF-16 units. */

/**
 * İ would become two letters, and Σ one of two by what follows. A server with another version of Unicode may know fewer
 * pairs of letters: then more texts are equal here than there, and the index only offers more.
 */
export function foldText(text: string): string {
  return text.replaceAll('İ', 'i').toLowerCase().replaceAll('ς', 'σ');
}
