/** `--controllers`, as kube-controller-manager reads it. */
import t from 'tap'
import { CONTROLLER_NAMES, chosenControllers, PLACEMENT_PARTS } from '../../src/controllers/controllerNames.ts'

const chosen = (...list: string[]): string[] => [...chosenControllers(list)]

t.test('a star is all, a name that one, a name behind a dash all but that one', async t => {
  t.strictSame(chosen('*'), CONTROLLER_NAMES)
  t.strictSame(chosen('placement', 'namespace-controller'), ['namespace-controller', 'placement'])
  const others = CONTROLLER_NAMES.filter(name => name !== 'placement')
  t.strictSame(chosen('*', '-placement'), others)
  t.strictSame(chosen('-placement', '*'), others, 'in any order')
  t.strictSame(chosen('-placement'), [], 'without a star nothing runs that is not named')
  t.strictSame(chosen('placement', '-placement'), ['placement'], 'the first word counts')
  t.strictSame(chosen(), [])
  t.strictSame(chosen('garbagecollector'), ['garbage-collector-controller'], 'a name from before 1.28')
})

t.test('a part of the controller placement is refused with the name of the whole', async t => {
  for (const part of PLACEMENT_PARTS)
    for (const word of [part, `-${part}`])
      t.throws(() => chosen('*', word), {
        message: `"${part}" is a part of the controller "placement", and runs with it alone: name "placement"`,
      })
})

t.test('an unknown name is refused with those that there are', async t => {
  const list = new RegExp(`is not in the list of known controllers: ${CONTROLLER_NAMES.join(', ')}; `)
  for (const name of ['nodeipam', '-nodeipam', '', '-*']) t.throws(() => chosen('*', name), { message: list })
})
