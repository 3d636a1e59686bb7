/** Writers of one object come one after the other, and hold no seat while they wait for each other. */
import t from 'tap'
import { StatusError } from '../../../src/apimachinery/errors.ts'
import type { Pausable } from '../../../src/apiserver/registry/context.ts'
import { WriterLines } from '../../../src/apiserver/registry/writerLines.ts'

const KEY = { space: 's', group: '', resource: 'configmaps', namespace: 'default', name: 'one' }
const OTHER = { ...KEY, name: 'other' }

/** Tells when it gives its seat back, and when it takes it again. */
function seat(told: string[], name: string): Pausable {
  return { pause: () => told.push(`${name} waits`), resume: () => told.push(`${name} goes on`) }
}

t.test('whoever waits has no seat meanwhile', async t => {
  const lines = new WriterLines()
  const told: string[] = []
  const { promise: first, resolve: endFirst } = Promise.withResolvers<void>()
  const write = (name: string, wait?: Promise<void>) => async (): Promise<void> => {
    told.push(`${name} writes`)
    await wait
  }
  const runs = [
    lines.run(KEY, seat(told, 'a'), write('a', first)),
    lines.run(KEY, seat(told, 'b'), write('b')),
    lines.run(KEY, undefined, write('c')),
    lines.run(OTHER, seat(told, 'd'), write('d')),
  ]
  t.ok(lines.has(KEY))
  endFirst()
  await Promise.all(runs)
  t.strictSame(told, ['a writes', 'b waits', 'd writes', 'b goes on', 'b writes', 'c writes'])
  t.notOk(lines.has(KEY), 'the line is gone')
})

t.test('who may not wait leaves the line as it was', async t => {
  const lines = new WriterLines()
  const told: string[] = []
  const { promise: first, resolve: endFirst } = Promise.withResolvers<void>()
  const full: Pausable = {
    pause: () => {
      throw new StatusError('TooManyRequests', 'too many wait')
    },
    resume: () => t.fail('has no seat to take'),
  }
  const a = lines.run(KEY, undefined, () => first)
  const b = lines.run(KEY, full, async () => told.push('b writes'))
  const c = lines.run(KEY, undefined, async () => told.push('c writes'))
  await t.rejects(b, { message: 'too many wait' })
  t.strictSame(told, [], 'nobody has passed')
  endFirst()
  await Promise.all([a, c])
  t.strictSame(told, ['c writes'])
  t.notOk(lines.has(KEY))
})
