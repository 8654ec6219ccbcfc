"""What a machine has: cards, memory, disks."""
