/**
 * A long text to read and search (Ctrl F inside), with the editor's virtual lines, so that megabytes scroll. Loaded only
 * when it is shown; nothing can be changed in it.
 */
import { json } from '@codemirror/lang-json';
import { bracketMatching, defaultHighlightStyle, foldGutter, syntaxHighlighting } from '@codemirror/language';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'react';

const THEME = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--panel)', color: 'var(--ink)', fontSize: '12px' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--font-mono, monospace)' },
  '.cm-gutters': { backgroundColor: 'var(--raised)', color: 'var(--ink-faint)', border: 'none' },
  '.cm-panels': { backgroundColor: 'var(--raised)', color: 'var(--ink)' },
  '.cm-panels input, .cm-panels button': { color: 'inherit', background: 'var(--panel)' },
  '.cm-searchMatch': { backgroundColor: 'var(--warn-soft)', outline: '1px solid var(--warn)' },
});

interface CodeViewProps {
  readonly label: string;
  readonly text: string;
  readonly isJson: boolean;
}

/** Above this the parser of the colours would be felt while scrolling. */
const MAX_COLOURED_CHARACTERS = 2_000_000;

export function CodeView({ label, text, isJson }: CodeViewProps) {
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const parent = frame.current;
    if (parent === null) return;
    const isDark = document.documentElement.dataset['theme'] === 'dark';
    const coloured =
      isJson && text.length <= MAX_COLOURED_CHARACTERS
        ? [json(), foldGutter(), bracketMatching(), ...(isDark ? [] : [syntaxHighlighting(defaultHighlightStyle)])]
        : [];
    const view = new EditorView({
      parent,
      state: EditorState.create({
        doc: text,
        extensions: [
          EditorState.readOnly.of(true),
          // Not a field to write in, but reachable by keyboard: to scroll, to mark, to search.
          EditorView.editable.of(false),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
          lineNumbers(),
          drawSelection(),
          search({ top: true }),
          highlightSelectionMatches(),
          keymap.of(searchKeymap),
          THEME,
          ...coloured,
        ],
      }),
    });
    return () => view.destroy();
  }, [text, isJson, label]);
  return <div ref={frame} dir="ltr" className="h-[60vh] min-h-64 overflow-hidden rounded-md border border-line" />;
}
