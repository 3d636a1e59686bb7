/** Locations in revisions: names that objects and Customizers read, and values that make two Locations alike to them. */
import t from 'tap'
import type { KubeObject } from '../../../../src/apimachinery/object.ts'
import {
  keptLocation,
  locationKey,
  locationReads,
  readsAlike,
} from '../../../../src/controllers/placement/rollout/locationContent.ts'

const EXPANDS = { 'edge.kubestellar.io/expand-parameters': 'true' }

function map(a: string, annotations: Record<string, string> = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'page', annotations },
    data: { a },
    status: { b: '%(status)' },
  }
}

function location(labels: Record<string, string>, annotations: Record<string, string> = {}): KubeObject {
  return {
    apiVersion: 'edge.kubestellar.io/v2alpha1',
    kind: 'Location',
    metadata: { name: 'florin', resourceVersion: '7', labels, annotations },
    spec: { resource: {} },
  }
}

t.test('an object reads the parameters that it names, if it asks to be expanded', t => {
  t.same(locationReads(map('%(zone) and %(tier), 100%% of %(zone)', EXPANDS)), ['zone', 'tier'])
  t.same(locationReads(map('%(zone)')), [])
  t.same(locationReads(map('plain', EXPANDS)), [])
  t.end()
})

t.test('a Customizer reads labels by its selectors, and parameters in its replacements', t => {
  const customizer = (annotations: Record<string, string>): KubeObject => ({
    apiVersion: 'edge.kubestellar.io/v2alpha1',
    kind: 'Customizer',
    metadata: { name: 'c', annotations },
    replacements: [
      { path: '$.data.a', value: '"%(zone)"' },
      { path: '$.data.b', value: '"x"', locationSelector: { matchLabels: { env: 'prod' } } },
      {
        path: '$.data.c',
        value: '"y"',
        locationSelector: { matchExpressions: [{ key: 'gpu', operator: 'Exists' }] },
      },
    ],
  })
  t.same([...locationReads(customizer({}))].sort(), ['env', 'gpu'])
  t.same([...locationReads(customizer(EXPANDS))].sort(), ['env', 'gpu', 'zone'])
  t.end()
})

t.test('two Locations are alike where the names that are read have the same values', t => {
  const [one, other] = [location({ zone: 'a', other: 'x' }), location({ zone: 'a', other: 'y' })]
  t.equal(readsAlike(one, other, new Set(['zone'])), true)
  t.equal(readsAlike(one, other, new Set(['zone', 'other'])), false)
  t.equal(readsAlike(one, location({}, { zone: 'a' }), new Set(['zone'])), false, 'an annotation is not a label')
  t.equal(readsAlike(one, location({ zone: 'a' }), new Set()), true)
  const applied = 'kubectl.kubernetes.io/last-applied-configuration'
  const names = new Set([applied, ...Array.from({ length: 200 }, (_, i) => `n${i}`)])
  t.equal(readsAlike(one, location({ zone: 'a' }, { [applied]: '{}' }), names), true)
  t.equal(readsAlike(one, location({ zone: 'a' }, { n7: 'x' }), names), false, 'of many names, too')
  t.end()
})

t.test('a Location is kept with what revisions read of it, and without what kubectl notes', t => {
  const names = new Set(['zone', 'tier', 'kubectl.kubernetes.io/last-applied-configuration'])
  const applied = { 'kubectl.kubernetes.io/last-applied-configuration': '{}' }
  t.strictSame(keptLocation(location({ zone: 'a', other: 'x' }, { ...applied, tier: 'b', big: 'x' }), names), {
    apiVersion: 'edge.kubestellar.io/v2alpha1',
    kind: 'Location',
    metadata: { name: 'florin', resourceVersion: '7', labels: { zone: 'a' }, annotations: { tier: 'b' } },
  })
  t.not(
    locationKey({ cluster: 'inv1', locationName: 'florin' }),
    locationKey({ cluster: 'inv2', locationName: 'florin' }),
  )
  t.end()
})
