/** Sentences are found where people read them. */
import t from 'tap'
import { commentsOf, documentOf, textsOf, wordsOf } from '../../../tools/english/sentences.ts'

t.test('comments, over their lines, by sentences, tags and items', async t => {
  const source = `
/**
 * A store of objects, each
 * with a key. Keys are sorted: by bytes.
 *
 * - an item
 * @throws NotFoundError when there is none
 */
const a = 'What is no comment'
// Kept for a minute.
`
  t.strictSame(commentsOf(source), [
    'A store of objects, each with a key.',
    'Keys are sorted: by bytes.',
    'an item',
    'NotFoundError when there is none',
    'Kept for a minute.',
  ])
})

t.test('texts in quotes of four words or more, not those of comments', async t => {
  const source = `
  // it's "What" somebody's comment quotes
  throw new Error('the field is not known here')
  const name = 'one two three'
  const message = \`object \${JSON.stringify(name)} is gone. Create it again, please\`
`
  t.strictSame(textsOf(source), ['the field is not known here', 'object X is gone.', 'Create it again, please'])
})

t.test('no scripts or tables, which have indented lines or assign numbers; a paragraph behind one counts', async t => {
  const source = `
  const help = \`Paths:
  a:b  below the current one
  -    the one before

The current space is in the kubeconfig.\`
  const fields = 'name:string=1 value:Schema=2 other:Any=3 last:Any=4'
`
  t.strictSame(textsOf(source), ['The current space is in the kubeconfig.'])
})

t.test('paragraphs, items and cells of a document, without its code', async t => {
  const markdown = `# A title

A paragraph over
two lines. It ends.

- one item
- another item

| cell | What it means |
| --- | --- |

\`\`\`sh
What is code
\`\`\`
`
  const sentences = documentOf(markdown).filter(sentence => wordsOf(sentence) > 0)
  t.strictSame(sentences, [
    'A title',
    'A paragraph over two lines.',
    'It ends.',
    'one item',
    'another item',
    'cell',
    'What it means',
  ])
  t.equal(wordsOf('two words — and & three'), 4)
})
