/**
 * Text from strangers as Markdown. No HTML; links lead out only to http(s) and tell nothing of this page; pictures are
 * never loaded, only named. Headings are drawn as bold lines: the page's own headings stay its outline.
 */
import type { ReactNode } from 'react';
import Markdown, { type Components } from 'react-markdown';

function Line({ children }: { readonly children?: ReactNode }) {
  return <p className="mt-2 font-semibold">{children}</p>;
}

const COMPONENTS: Components = {
  h1: Line,
  h2: Line,
  h3: Line,
  h4: Line,
  h5: Line,
  h6: Line,
  a: ({ href, children }) =>
    href !== undefined && /^https?:\/\//i.test(href) ? (
      <a
        href={href}
        target="_blank"
        rel="noopener noreferrer"
        title={`Leaves this page: ${href}`}
        className="text-accent underline"
      >
        {children}
      </a>
    ) : (
      <span>{children}</span>
    ),
  img: ({ src, alt }) => (
    <span className="rounded bg-raised px-1 text-ink-soft">
      [picture, not loaded: {alt === undefined || alt === '' ? String(src ?? '').slice(0, 200) : alt}]
    </span>
  ),
  pre: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <pre tabIndex={0} className="my-2 overflow-x-auto rounded bg-raised p-2 font-mono text-xs">
      {children}
    </pre>
  ),
  code: ({ children }) => <code className="rounded bg-raised px-0.5 font-mono text-[0.9em]">{children}</code>,
  ul: ({ children }) => <ul className="my-1 list-disc pl-5">{children}</ul>,
  ol: ({ children, start }) => (
    <ol start={start} className="my-1 list-decimal pl-5">
      {children}
    </ol>
  ),
  p: ({ children }) => <p className="my-1 first:mt-0 last:mb-0">{children}</p>,
  blockquote: ({ children }) => (
    <blockquote className="my-1 border-l-2 border-line-strong pl-3 text-ink-soft">{children}</blockquote>
  ),
};

export const MAX_MARKDOWN_CHARACTERS = 40_000;

export function MarkdownText({ text }: { readonly text: string }) {
  return (
    <div dir="auto" className="[overflow-wrap:anywhere]">
      <Markdown components={COMPONENTS}>{text}</Markdown>
    </div>
  );
}
