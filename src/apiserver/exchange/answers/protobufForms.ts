/**
 * Stored objects in protobuf. Watches keep what they encode for each other, as long as the version of the object lives. The latest few
 * megabytes that a GET or a LIST encodes are kept. Concurrent lists of the same objects, and the second look of one, find them there. A
 * large LIST does not double the memory of its objects.
 */
import { apiVersionOf, type KubeObject } from '../../../apimachinery/object.ts'
import { watchFrameOf } from '../../../apimachinery/protobuf/envelope.ts'
import type { ResourceType } from '../../../apimachinery/resourceType.ts'
import type { Stored } from '../../../storage/store.ts'
import { type Form, isPartial } from '../../http/negotiate.ts'
import { viewBytes } from '../../registry/views.ts'
import { partialMetadata } from '../../tables/table.ts'
import type { Services } from '../exchange.ts'
import type { FrameType } from './frames.ts'

/** How one kind goes to clients that want it in one form of protobuf: as it is, or only its metadata. */
interface ProtobufForm {
  apiVersion: string
  kind: string
  /** The object as a part of an envelope or a list. */
  part(stored: Stored): Buffer
  /** The length of that: of something long it is made for it only once. */
  partLength(stored: Stored): number
  /** One event of a watch; made once for all watchers. */
  frame(type: FrameType, stored: Stored): Buffer
}

/** The kind that an object says it is of, in a form. */
export function shownKind(type: ResourceType, form: Form): { apiVersion: string; kind: string } {
  if (isPartial(form)) return { apiVersion: `meta.k8s.io/${form.version}`, kind: 'PartialObjectMetadata' }
  return { apiVersion: apiVersionOf(type), kind: type.kind }
}

export function protobufForm(
  services: Pick<Services, 'frames' | 'protobuf'>,
  type: ResourceType,
  as: Form,
): ProtobufForm {
  const { frames, protobuf } = services
  const partial = isPartial(as)
  const kind = shownKind(type, as)
  // Versions of a kind may differ in their metadata, too: conversion webhooks change labels and annotations.
  const name = partial ? `protobuf ${kind.apiVersion} ${apiVersionOf(type)}` : `protobuf ${kind.apiVersion}`
  const encode = (stored: Stored): Buffer => {
    const object = JSON.parse(viewBytes(stored, type).toString()) as KubeObject
    return protobuf.encodePart(partial ? partialMetadata(object, as.version) : object)
  }
  const make = (event: FrameType, stored: Stored): Buffer => {
    const part = frames.known(stored, name) ?? encode(stored)
    const frame = watchFrameOf(event, kind, part)
    // Kept as a view of the frame, which has it just before the four bytes that end an envelope.
    frames.shared(stored, name, () => frame.subarray(frame.length - 4 - part.length, frame.length - 4))
    return frame
  }
  const part = (stored: Stored): Buffer => frames.lately(stored, name, () => encode(stored))
  return {
    ...kind,
    part,
    // A webhook may convert an object to something else when its kind changes.
    partLength: stored => (type.custom ? part(stored).length : frames.length(stored, name, () => encode(stored))),
    frame: (event, stored) => frames.frame(event, stored, name, make),
  }
}
