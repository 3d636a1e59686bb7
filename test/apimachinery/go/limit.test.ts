/** Go's words stay in their folder, and the folder stays as small as the decision about it promises. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const ROOT = join(import.meta.dirname, '../../..')
const SOURCES = join(ROOT, 'src')
const FOLDER = join(SOURCES, 'apimachinery/go')
/** How sentences of the folder begin that others would be tempted to put together on their own. */
const SENTENCES = [/strconv\./, /cannot unmarshal \$\{/, /time: invalid duration/]

const textsBelow = (folder: string): [path: string, text: string][] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(path => path.endsWith('.ts'))
    .map(path => [join(folder, path), readFileSync(join(folder, path), 'utf8')])

t.test('the folder keeps to its limit of lines', async t => {
  const written = /has\s+at most ([\d,]+) lines/.exec(
    readFileSync(join(ROOT, 'docs/decisions/014-gos-words.md'), 'utf8'),
  )?.[1]
  const lines = textsBelow(FOLDER).reduce((sum, [, text]) => sum + text.split('\n').length - 1, 0)
  t.ok(lines <= Number(written?.replaceAll(',', '')), `${lines} lines, of at most ${written}`)
})

t.test('nobody else puts its sentences together', async t => {
  const others = textsBelow(SOURCES).filter(([path]) => !path.startsWith(FOLDER))
  for (const sentence of SENTENCES) {
    const found = others.filter(([, text]) => sentence.test(text)).map(([path]) => path)
    t.strictSame(found, [], String(sentence))
  }
})
