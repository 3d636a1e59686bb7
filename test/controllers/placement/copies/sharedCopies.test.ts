// Copies that are written together: a gate that closes while their content is made keeps them as they are.
import t from 'tap'
import { SharedCopies } from '../../../../src/controllers/placement/copies/sharedCopies.ts'
import { Mailbox } from '../../../../src/controllers/placement/mailboxes/mailbox.ts'
import { objectKey } from '../../../../src/placement/words/names.ts'

const MAPS = { group: '', version: 'v1', resource: 'configmaps' }
const KEY = objectKey(MAPS, 'shop', 'page')

for (const gate of ['no gate', 'locationOf', 'isLeaving', 'holdsClaim'] as const) {
  t.test(`${gate} closes while the content is made`, async t => {
    const mailbox = new Mailbox('florin', 'm1')
    mailbox.namespaces.add('shop')
    const fact = { key: KEY, resource: MAPS, namespace: 'shop', name: 'page' }
    const source = { space: 'ws', fact, placements: ['p'], location: { mailbox: 'florin' } }
    let isMade = false
    const isClosed = (name: typeof gate) => isMade && gate === name
    const written: string[] = []
    const copies = new SharedCopies({
      facts: {
        join: { sourcesOf: () => [source], unsureOf: () => new Set(), fact: () => fact, spec: () => undefined },
        rules: { isReleased: () => false, isSpace: () => false },
        pauses: {
          locationOf: () => (isClosed('locationOf') ? 'florin' : undefined),
          holdsClaim: () => isClosed('holdsClaim'),
          holdsCopy: () => false,
        },
        isLeaving: () => isClosed('isLeaving'),
        isUnschedulable: () => false,
        isFollowed: () => true,
        isNeeded: () => false,
      },
      making: {
        ready: () => (isMade ? { generation: 1 } : undefined),
        firstGood: async () => {
          isMade = true
        },
      },
      notes: { right: () => {} },
      writer: {
        writeTogether: async (all: { key: string }[]) => {
          written.push(...all.map(({ key }) => key))
          return all.map(() => ({ uid: 'u', like: { metadata: {} } }))
        },
      },
    } as never)
    const one = copies.toWrite(mailbox, KEY, [source as never])
    t.same(await copies.write([one!]), [gate === 'no gate'])
    t.same(written, gate === 'no gate' ? [KEY] : [])
  })
}
