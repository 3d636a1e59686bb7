/**
 * In which order the objects of a space come into a cluster, where they say so: an annotation with a whole number, lower ones first. An
 * object without the annotation is of wave 0. Pure.
 */
import type { KubeObject } from '../../apimachinery/object.ts'
import { WAVE } from '../words/placement.ts'

const MAX_WAVE = 1000
const NUMBER = /^[+-]?\d{1,5}$/

/** @returns `undefined` where the annotation is no wave */
export function waveOf({ metadata }: Pick<KubeObject, 'metadata'>): number | undefined {
  const text = metadata.annotations?.[WAVE]
  if (text === undefined || text === '') return 0
  const wave = NUMBER.test(text) ? Number(text) : Number.NaN
  return Math.abs(wave) <= MAX_WAVE ? wave : undefined
}

/** Fault of an annotation that is no wave, with the remedy. */
export function waveFault({ metadata }: Pick<KubeObject, 'metadata'>): string {
  const value = JSON.stringify((metadata.annotations?.[WAVE] ?? '').slice(0, 40))
  return `annotation ${WAVE}: ${value} is no wave; write a whole number from -${MAX_WAVE} to ${MAX_WAVE}, or take it away`
}
