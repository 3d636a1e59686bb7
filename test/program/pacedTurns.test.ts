/** Long steps come one after the other, and leave the loop to others for as long as they took. */
import t from 'tap'
import { PacedTurns } from '../../src/program/pacedTurns.ts'
import { Abandoned } from '../../src/program/workTurns.ts'

function fakeLoop() {
  let nowMs = 0
  const pauses: { ms: number; call: () => void }[] = []
  const paced = new PacedTurns({ clock: () => nowMs, after: (ms, call) => pauses.push({ ms, call }) })
  const steps: string[] = []
  const step = async (owner: string, ms: number, isAbandoned = () => false): Promise<void> => {
    await paced.take({ owner, isAbandoned })
    steps.push(owner)
    nowMs += ms
  }
  /** Until whoever can go on has. */
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 5; i++) await new Promise(setImmediate)
  }
  const pass = async (): Promise<number> => {
    const { ms, call } = pauses.shift()!
    nowMs += ms
    call()
    await settle()
    return ms
  }
  return { step, steps, pauses, settle, pass }
}

t.test('one after the other, owners in turn', async t => {
  const { step, steps, settle, pass } = fakeLoop()
  const all = [step('a', 30), step('a', 7), step('b', 12)]
  await settle()
  t.same(steps, ['a'], 'the first does not wait')
  t.equal(await pass(), 30)
  t.same(steps, ['a', 'b'])
  t.equal(await pass(), 12)
  t.same(steps, ['a', 'b', 'a'])
  await Promise.all(all)
})

t.test('whoever comes later waits for what is left of the pause', async t => {
  const { step, steps, settle, pauses, pass } = fakeLoop()
  await step('a', 20)
  await settle()
  const next = step('b', 0)
  await settle()
  t.equal(pauses.length, 1)
  t.equal(await pass(), 20)
  await next
  t.same(steps, ['a', 'b'])
})

t.test('a pause has an end', async t => {
  const { step, settle, pass } = fakeLoop()
  await step('a', 5000)
  await settle()
  const next = step('b', 0)
  await settle()
  t.equal(await pass(), 100)
  await next
})

t.test('what nobody wants is not begun', async t => {
  const { step, steps } = fakeLoop()
  await t.rejects(
    step('a', 1, () => true),
    Abandoned,
  )
  t.same(steps, [])
})
