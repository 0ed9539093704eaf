"""How the studio looks: the frame of every page, its panels, fields and figures."""
