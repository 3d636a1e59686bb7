// One decision about a copy: who may write it, what keeps it, and when it may go.
import t from 'tap'
import {
  type Decision,
  decide,
  isNeededThere,
  isUnwanted,
} from '../../../../src/controllers/placement/copies/decide.ts'
import { type CopyFact, Mailbox } from '../../../../src/controllers/placement/mailboxes/mailbox.ts'
import { namespaceKey, objectKey } from '../../../../src/placement/words/names.ts'
import { type CopyWorld, factsOf, KEY, randomWorlds } from '../../../placement/randomWorlds.ts'

const MAPS = { group: '', version: 'v1', resource: 'configmaps' }

/** As text: verb, gate, whether the copy is unwanted, and claims by right. */
function shown(decision: Decision): string {
  const gate =
    decision.verb === 'keep'
      ? ` ${decision.gate}${decision.unwanted ? ' unwanted' : decision.passes ? ' passes' : ''}`
      : ''
  const space = decision.verb === 'wait' && decision.space ? ` ${decision.space}` : ''
  const claims = 'claims' in decision ? ` ${decision.claims.map(claim => claim.space).join(',')}` : ''
  return `${decision.verb}${gate}${space}${claims}`.trim()
}

const SCENES: readonly [name: string, scene: CopyWorld, decision: string][] = [
  ['one claim, no copy', { claims: ['a'] }, 'write a'],
  ['the oldest of two claims comes first', { claims: ['a', 'b'] }, 'write a,b'],
  ['the owner keeps what another space claimed before', { claims: ['a', 'b'], owner: 'b' }, 'write b,a'],
  ['a released owner gives way', { claims: ['a', 'b'], owner: 'b', released: ['b'] }, 'write a,b'],
  ['nothing is claimed, nothing is there', {}, 'none'],
  ['nobody claims the copy', { owner: 'a' }, 'remove'],
  ['a copy that is going is none', { owner: 'a', isGoing: true }, 'none'],
  ['an object there needs the copy', { owner: 'a', isNeeded: true }, 'none'],
  ['the owner gave it up and another space claims it', { claims: ['b', 'c'], owner: 'a' }, 'pass b,c'],
  ['the owner hands it over', { claims: ['b', 'c'], owner: 'a', handsOverTo: 'b' }, 'write b,c'],
  ['the owner is not known', { owner: 'a', unknown: ['a'] }, 'wait a'],
  ['consents of the only claim are not known', { unsure: ['a'] }, 'wait'],
  ['consents of the owner are not known', { claims: ['b'], owner: 'a', unsure: ['a'] }, 'wait'],
  ['consents of a rival do not matter', { claims: ['a'], owner: 'a', unsure: ['b'] }, 'write a'],
  ['the cluster takes nothing new', { claims: ['a', 'b'], isUnschedulable: true }, 'keep unschedulable a,b'],
  ['the claim is paused', { claims: ['a'], owner: 'a', paused: ['a'] }, 'keep paused a'],
  ['a paused rival does not matter', { claims: ['a', 'b'], owner: 'a', paused: ['b'] }, 'write a,b'],
  ['the former owner is paused', { owner: 'a', paused: ['a'] }, 'keep paused unwanted'],
  [
    'the former owner is paused, another space claims',
    { claims: ['b'], owner: 'a', paused: ['a'] },
    'keep paused unwanted b',
  ],
  ['the heir is paused', { claims: ['b'], owner: 'a', paused: ['b'] }, 'keep paused passes b'],
  ['the Location is paused', { claims: ['a'], owner: 'a', isLocationPaused: true }, 'keep locationPaused a'],
  ['the Location is paused, nobody claims', { owner: 'a', isLocationPaused: true }, 'keep locationPaused unwanted'],
  [
    'the Location is paused, consents are not known',
    { owner: 'a', isLocationPaused: true, unsure: ['a'] },
    'keep locationPaused',
  ],
  ['the SyncTarget is leaving', { owner: 'a', isLeaving: true, isLocationPaused: true }, 'keep leaving'],
]

for (const [name, scene, decision] of SCENES)
  t.test(name, async t => {
    const { facts, mailbox } = factsOf(scene)
    t.equal(shown(decide(facts, mailbox, KEY)), decision)
  })

t.test('a copy is unwanted, wanted, or that is not known', async t => {
  const of = (scene: CopyWorld) => {
    const { facts, mailbox } = factsOf(scene)
    return isUnwanted(facts, mailbox, KEY)
  }
  t.equal(of({ owner: 'a' }), true)
  t.equal(of({ owner: 'a', claims: ['b'] }), true, 'also one that another space waits for')
  t.equal(of({ owner: 'a', claims: ['a', 'b'] }), false)
  t.equal(of({ owner: 'a', unsure: ['a'] }), undefined)
  t.equal(of({ unsure: ['a'] }), false, 'nothing is there')
})

t.test('a Namespace is needed while something is in it that its owner did not delete', async t => {
  const mailbox = new Mailbox('florin', 'm1')
  const key = namespaceKey('shop')
  const copy: CopyFact = {
    resource: MAPS,
    uid: 'u',
    resourceVersion: '1',
    settled: true,
    terminating: false,
    owner: 'a',
  }
  let isUsed = false
  let isDeleted = false
  const facts = {
    join: { needsNamespace: () => isUsed, needsDefinition: () => false },
    isGoneFrom: () => isDeleted,
  }
  const isNeeded = (owner = 'a') => isNeededThere(facts, mailbox, key, { ...copy, owner })
  t.notOk(isNeeded(), 'it is empty')
  isUsed = true
  t.ok(isNeeded(), 'a placement brings objects into it')
  isUsed = false
  mailbox.others.set(objectKey(MAPS, 'shop', 'theirs'), true)
  t.ok(isNeeded(), "it holds the cluster's own objects")
  isDeleted = true
  t.notOk(isNeeded(), 'its owner deleted it')
  t.ok(isNeeded(''), 'nobody owns it')
  mailbox.copies.set(KEY, copy)
  t.ok(isNeeded(), 'a copy is left in it')
})

t.test(
  'in random worlds a decision takes nothing from an owner that claims, and nothing while a gate or a doubt keeps it',
  async t => {
    const verbs = new Set<string>()
    for (const { seed, world } of randomWorlds(5000)) {
      const { facts, mailbox } = factsOf(world)
      const decision = decide(facts, mailbox, KEY)
      verbs.add(decision.verb)
      const wrong = wrongIn(world, decision)
      if (wrong) throw new Error(`seed ${seed}: ${shown(decision)}: ${wrong}`)
    }
    t.same([...verbs].sort(), ['keep', 'none', 'pass', 'remove', 'wait', 'write'])
  },
)

function wrongIn(world: CopyWorld, decision: Decision): string | undefined {
  const { claims = [], owner, isGoing = false, isLeaving = false, isLocationPaused = false, released = [] } = world
  const { verb } = decision
  const isThere = owner !== undefined && !isGoing
  if (isLeaving && !(verb === 'keep' && decision.gate === 'leaving')) return 'its SyncTarget leaves'
  if (isLocationPaused && verb !== 'keep') return 'its Location is paused'
  if (verb === 'remove' && (claims.length > 0 || !isThere)) return 'it is claimed, or not there'
  if (verb === 'write' && claims.length === 0) return 'nobody claims it'
  const isTaken = verb === 'pass' && owner !== undefined && claims.includes(owner) && !released.includes(owner)
  return isTaken ? 'its owner claims it' : undefined
}
