/** Marks the text that a search looked for in what is shown of a call, and scrolls to its first place once. */
import { createContext, type ReactNode, useContext, useEffect, useRef } from 'react';
import { foldText } from '../../../../src/control/search/fold-text.ts';

/** Named in the style sheet. */
const HIGHLIGHT = 'sought';
const MAX_MARKS = 500;
/** More is slow to look through with each change of the page. */
const MAX_CHARACTERS = 4_000_000;

const Sought = createContext('');

/** Where in a text the sought one begins; -1 where it is not in there, or nothing is sought. */
export function useSoughtIn(text: string): number {
  const sought = useContext(Sought);
  return sought === '' ? -1 : foldText(text).indexOf(foldText(sought));
}

/** Tells whether a value has the sought text in it, as JSON. */
export function useHasSought(): (value: unknown) => boolean {
  const sought = useContext(Sought);
  if (sought === '') return () => false;
  const wanted = foldText(JSON.stringify(sought).slice(1, -1));
  return (value) => foldText(JSON.stringify(value) ?? '').includes(wanted);
}

interface Place {
  readonly node: Text;
  readonly begin: number;
}

/** A word may be in several nodes, such as one of which a part is bold. */
function findRanges(root: Element, sought: string): Range[] {
  const places: Place[] = [];
  let text = '';
  const nodes = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = nodes.nextNode(); node instanceof Text && text.length < MAX_CHARACTERS; node = nodes.nextNode()) {
    places.push({ node, begin: text.length });
    text += node.data;
  }
  const ranges: Range[] = [];
  const folded = foldText(text);
  const wanted = foldText(sought);
  let place = 0;
  const pointAt = (index: number): readonly [Text, number] | null => {
    while ((places[place + 1]?.begin ?? Number.POSITIVE_INFINITY) <= index) place += 1;
    const found = places[place];
    return found === undefined ? null : [found.node, index - found.begin];
  };
  for (
    let at = folded.indexOf(wanted);
    at !== -1 && ranges.length < MAX_MARKS;
    at = folded.indexOf(wanted, at + wanted.length)
  ) {
    const begin = pointAt(at);
    const end = pointAt(at + wanted.length - 1);
    if (begin === null || end === null) break;
    const range = new Range();
    range.setStart(...begin);
    range.setEnd(end[0], end[1] + 1);
    ranges.push(range);
  }
  return ranges;
}

function show(range: Range): void {
  const element = range.startContainer.parentElement;
  for (let closed = element?.closest('details:not([open])'); closed instanceof HTMLDetailsElement; ) {
    closed.open = true;
    closed = closed.parentElement?.closest('details:not([open])');
  }
  element?.scrollIntoView({ block: 'center' });
}

interface SoughtTextProps {
  readonly text: string;
  readonly children: ReactNode;
}

export function SoughtText({ text, children }: SoughtTextProps) {
  const root = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = root.current;
    if (element === null || text === '' || !('highlights' in CSS)) return;
    let hasShown = false;
    const mark = (): void => {
      const ranges = findRanges(element, text);
      CSS.highlights.set(HIGHLIGHT, new Highlight(...ranges));
      const [first] = ranges;
      if (first === undefined || hasShown) return;
      hasShown = true;
      show(first);
    };
    // The bodies come later, and parts are opened.
    const changes = new MutationObserver(mark);
    changes.observe(element, { childList: true, characterData: true, subtree: true });
    mark();
    return () => {
      changes.disconnect();
      CSS.highlights.delete(HIGHLIGHT);
    };
  }, [text]);
  return (
    <Sought value={text}>
      <div ref={root} className="contents">
        {children}
      </div>
    </Sought>
  );
}
