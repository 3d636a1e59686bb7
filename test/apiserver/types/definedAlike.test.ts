/** A refusal of a kind that many places define otherwise stays short, whatever they define. */
import t from 'tap'
import type { ResourceType } from '../../../src/apimachinery/resourceType.ts'
import { definedOtherwise } from '../../../src/apiserver/types/definedAlike.ts'

const BOATS = { group: 'a.b', version: 'v1', resource: 'boats' }
const TEXTS = { who: 'spaces', remedy: 'Read each' } as const

function boats(kind: string): ResourceType {
  const lists = { shortNames: [], categories: [], verbs: [], subresources: [], columns: [], selectableFields: [] }
  const names = { singular: 'boat', kind, listKind: `${kind}List` }
  return { ...BOATS, ...names, ...lists, namespaced: true, storageVersion: 'v1', schema: undefined, form: 'custom' }
}

t.test('it shows ten definitions, and counts places with further ones', async t => {
  const definitions = Array.from({ length: 1000 }, (_, i) => ({ place: `s${i}`, types: [boats(`Boat${i}`)] }))
  const refusal = definedOtherwise(BOATS, definitions, TEXTS)
  const shown = Array.from({ length: 10 }, (_, i) => `s${i}`).join('; ')
  t.equal(
    refusal?.message,
    `spaces define version v1 of boats.a.b otherwise: ${shown}; 990 more with further definitions. Read each`,
  )
})

t.test('it shows ten places of a definition, and counts the others', async t => {
  const alike = Array.from({ length: 12 }, (_, i) => ({ place: `s${i}`, types: [boats('Boat')] }))
  const refusal = definedOtherwise(BOATS, [...alike, { place: 'z', types: [] }], TEXTS)
  const shown = Array.from({ length: 10 }, (_, i) => `s${i}`).join(', ')
  t.equal(
    refusal?.message,
    `spaces define version v1 of boats.a.b otherwise: ${shown} and 2 more; z without it. Read each`,
  )
})
