/** `--controllers`, as kube-controller-manager reads it. */
import t from 'tap'
import { CONTROLLER_NAMES, chosenControllers } from '../../src/controllers/controllerNames.ts'

const chosen = (...list: string[]): string[] => [...chosenControllers(list)]

t.test('a star is all, a name that one, a name behind a dash all but that one', async t => {
  t.strictSame(chosen('*'), CONTROLLER_NAMES)
  t.strictSame(chosen('where-resolver', 'namespace-controller'), ['namespace-controller', 'where-resolver'])
  const others = CONTROLLER_NAMES.filter(name => name !== 'where-resolver')
  t.strictSame(chosen('*', '-where-resolver'), others)
  t.strictSame(chosen('-where-resolver', '*'), others, 'in any order')
  t.strictSame(chosen('-where-resolver'), [], 'without a star nothing runs that is not named')
  t.strictSame(chosen('where-resolver', '-where-resolver'), ['where-resolver'], 'the first word counts')
  t.strictSame(chosen(), [])
  t.strictSame(chosen('garbagecollector'), ['garbage-collector-controller'], 'a name from before 1.28')
})

t.test('an unknown name is refused with those that there are', async t => {
  const list = new RegExp(`is not in the list of known controllers: ${CONTROLLER_NAMES.join(', ')}; `)
  for (const name of ['nodeipam', '-nodeipam', '', '-*']) t.throws(() => chosen('*', name), { message: list })
})
