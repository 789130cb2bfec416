package view

// Unseen are characters that nobody sees and that change what is read: the order of writing, and those of no width.
// The joiners of scripts and emoji are not among them.
func Unseen(r rune) bool {
	switch {
	case r == 0xad, r == 0x61c, r == 0x180e, r == 0x200b, r == 0x200e, r == 0x200f, r == 0xfeff:
		return true
	case r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r >= 0xfff9 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return false
}
