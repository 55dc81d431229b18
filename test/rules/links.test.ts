/** The pages of the documentation lead to each other: no link ends nowhere, and the index has every page. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..', '..');
const PAGES = globSync('{*.md,{docs,clients,deploy}/**/*.md}', { cwd: ROOT, exclude: ['**/node_modules/**'] });

/** Without blocks of code, in which brackets are no links. */
function readProse(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8').replaceAll(/^ *```.*?^ *```/gms, '');
}

/** As GitHub makes them of the headings. */
function listAnchors(prose: string): ReadonlySet<string> {
  const seen = new Map<string, number>();
  const anchors = [...prose.matchAll(/^#{1,6} (.*)$/gm)].map(([, heading = '']) => {
    const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const anchor = text.replaceAll(/[^\p{L}\p{N}_\- ]/gu, '').replaceAll(' ', '-');
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
  return new Set(anchors);
}

/** The links of a page to files of ours that are not there, or to headings that are not in them. */
function findBrokenLinks(page: string, prose: string): readonly string[] {
  const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = '', anchor = ''] = link.split('#');
    const target = path === '' ? page : relative(ROOT, resolve(ROOT, dirname(page), path));
    if (!existsSync(join(ROOT, target))) return true;
    return anchor !== '' && target.endsWith('.md') && !listAnchors(readProse(target)).has(anchor);
  });
}

describe('the documentation', () => {
  it.each(PAGES)('%s has no link that leads nowhere', (page) => {
    expect(findBrokenLinks(page, readProse(page))).toEqual([]);
  });

  it('would show a link to a file that is not there, and to a heading that is not in it', () => {
    const prose = 'See [a](keys.md), [b](key.md), [c](keys.md#no-such-heading), [d](https://example.com/x).';
    expect(findBrokenLinks('docs/x.md', prose)).toEqual(['key.md', 'keys.md#no-such-heading']);
  });

  it('is listed in its index, page by page', () => {
    const index = readProse('docs/README.md');
    const missing = globSync('*.md', { cwd: join(ROOT, 'docs') }).filter(
      (name) => name !== 'README.md' && !index.includes(`](${name})`),
    );
    expect(missing).toEqual([]);
  });
});
