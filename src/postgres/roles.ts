// Names the database roles of a deployment; grants.ts says what each may do.

/** `operator` is for commands that read: callbacks, doctor. The owner of the tables is for `migrate` alone. */
export const databaseRoles = ["receiver", "relay", "worker", "cleanup", "operator"] as const;
export type DatabaseRole = (typeof databaseRoles)[number];

export const loginOf = (role: DatabaseRole): string => `trustflow_${role}`;
