/** Of the documents that the commands print for programs; their fields stay while it does. */
export const ANSWERS_VERSION = 'cli.edge.kubestellar.io/v1'
