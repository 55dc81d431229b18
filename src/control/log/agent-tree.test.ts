import { expect, test } from 'vitest';
import { AgentTree } from './agent-tree.ts';

function place(session: string, path: string, known: readonly (readonly [string, string])[]) {
  const tree = new AgentTree();
  tree.add({ session, path });
  for (const [of, at] of known) tree.add({ session: of, path: at });
  return tree.place({ session, path });
}

test('an agent whose call names its parent is below all that the parent’s calls name', () => {
  const known = [
    ['s', 'main/g'],
    ['s', 'main/g/p'],
  ] as const;
  expect(place('s', 'main/p/x', known)).toEqual({ session: 's', path: 'main/g/p/x' });
  expect(place('s', 'main/x/y', [...known, ['s', 'main/p/x']])).toEqual({ session: 's', path: 'main/g/p/x/y' });
});

test('what nobody tells more of stays where it is', () => {
  expect(place('s', 'main', [])).toEqual({ session: 's', path: 'main' });
  expect(place('s', 'main/x', [['s', 'main/p']])).toEqual({ session: 's', path: 'main/x' });
  expect(place('s', 'main/p/x', [['t', 'main/q/r']])).toEqual({ session: 's', path: 'main/p/x' });
});

test('a session that is a sub-agent of another leads to its root, however deep', () => {
  const known = [
    ['root', 'main/one'],
    ['one', 'main/two'],
  ] as const;
  expect(place('one', 'main/two', known)).toEqual({ session: 'root', path: 'main/one/two' });
  expect(place('two', 'main/three', known)).toEqual({ session: 'root', path: 'main/one/two/three' });
  // As it was after the first of them was placed.
  expect(place('two', 'main/three', [['root', 'main/one/two']])).toEqual({
    session: 'root',
    path: 'main/one/two/three',
  });
});

test('agents that name each other as parents end somewhere', () => {
  const { path } = place('s', 'main/a/b', [['s', 'main/b/a']]);
  expect(path).toBe('main/a/b');
});
