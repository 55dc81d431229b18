import { expect, test } from 'vitest';
import { beginTypedText, changeTypedText, type TypedTextChange, unsentText } from './typed-text.ts';

function after(q: string, ...changes: readonly TypedTextChange[]) {
  const state = changes.reduce(changeTypedText, beginTypedText(q));
  return { text: state.text, unsent: unsentText(state) };
}

test('what was typed while the address was on its way stays, and goes there next', () => {
  expect(
    after(
      '',
      { type: 'typed', text: 'rai' },
      { type: 'sent', text: 'rai' },
      { type: 'typed', text: 'rain' },
      { type: 'arrived', q: 'rai' },
    ),
  ).toEqual({ text: 'rain', unsent: 'rain' });
});

test('a text is sent once, however long the address takes', () => {
  expect(after('', { type: 'typed', text: 'rain' })).toEqual({ text: 'rain', unsent: 'rain' });
  expect(after('', { type: 'typed', text: 'rain' }, { type: 'sent', text: 'rain' })).toEqual({
    text: 'rain',
    unsent: null,
  });
});

test('what is taken back while it was on its way is taken out of the address, too', () => {
  expect(after('a', { type: 'typed', text: 'ab' }, { type: 'sent', text: 'ab' }, { type: 'typed', text: 'a' })).toEqual(
    { text: 'a', unsent: 'a' },
  );
});

test('an address from elsewhere (Back, Clear the filters) replaces the text', () => {
  expect(after('rain', { type: 'arrived', q: '' })).toEqual({ text: '', unsent: null });
  expect(
    after('rain', { type: 'typed', text: 'rainy' }, { type: 'sent', text: 'rainy' }, { type: 'arrived', q: '' }),
  ).toEqual({ text: '', unsent: null });
});

test('of several addresses on their way the last is the one that counts, also when others never arrive', () => {
  const sent: readonly TypedTextChange[] = [
    { type: 'typed', text: 'a' },
    { type: 'sent', text: 'a' },
    { type: 'typed', text: 'ab' },
    { type: 'sent', text: 'ab' },
    { type: 'arrived', q: 'ab' },
  ];
  expect(after('', ...sent)).toEqual({ text: 'ab', unsent: null });
  // `a` is no more awaited, so that it comes from elsewhere.
  expect(after('', ...sent, { type: 'arrived', q: 'a' })).toEqual({ text: 'a', unsent: null });
});
