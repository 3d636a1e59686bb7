/** The pictures in docs are those that the scripts draw, and the picture of the rooms is what the dependency rules allow. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { PICTURES } from '../../../tools/pictures/pictures.ts'
import { kept } from '../../../tools/pictures/recording.ts'
import { dependencyRules, leave, roomsOf } from '../../../tools/pictures/rooms.ts'

const FOLDER = join(import.meta.dirname, '../../../docs/pictures')

t.test('docs/pictures holds these pictures; "npm run pictures" draws them anew', async t => {
  const drawn = readdirSync(FOLDER).filter(file => file.endsWith('.svg'))
  t.strictSame(
    drawn.sort(),
    Object.keys(PICTURES)
      .map(name => `${name}.svg`)
      .sort(),
  )
  for (const [name, picture] of Object.entries(PICTURES))
    t.equal(`${picture()}`, readFileSync(join(FOLDER, `${name}.svg`), 'utf8'), name)
})

t.test('rooms and their imports come from the rules', async t => {
  const rules = dependencyRules()
  t.match(roomsOf(rules), ['src/program', 'openapi', 'src/apimachinery'])
  t.equal(roomsOf(rules).at(-1), 'src/cli')
  const [kinds, server, authority, words] = [
    ['src/kinds/x.ts'],
    ['src/apiserver/admission/x.ts'],
    ['src/apiserver/authority/x.ts'],
    ['src/placement/words/placement.ts', 'src/placement/select/x.ts'],
  ]
  t.equal(leave(rules, kinds, server), 'none', 'a later room')
  t.equal(leave(rules, server, kinds), 'all', 'an earlier room')
  t.equal(leave(rules, server, words), 'part', 'a rule about some files')
  t.equal(leave(rules, authority, words), 'all')
})

t.test('a recording keeps its chapters, cut to the width', async t => {
  const demo = (line: string) => `# A server\n\n# An outage: now\n${line}\n\n# A rollout: one\n`
  t.equal(kept(demo('x'.repeat(113))), `# An outage: now\n${'x'.repeat(111)}…\n`)
  t.throws(() => kept('# A server\n'), /has no chapters/)
})
